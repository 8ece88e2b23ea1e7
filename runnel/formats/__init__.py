"""File formats: SSTables, tensor bundles, records and their checksums."""
