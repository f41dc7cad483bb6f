"""What tests of studies share."""

import pytest

from tricover.studies.cluster import own_cluster


@pytest.fixture(scope="session")
def client():
    """Two workers: starting them takes longer than all that they do."""
    with own_cluster(2) as given:
        yield given
