"""Tests of datasets find `pipelines` beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
