"""tf.test.experimental: Waiting for devices."""

from ...testing import sync_devices as sync_devices
