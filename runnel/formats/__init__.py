"""The bytes on disk: tables, tensor bundles and their checksums."""
