import numpy as np
import pytest

TRIANGLES = {
    "fair": [[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]],
    "flipped": [[0.0, 0.0], [1.0, 3.0], [4.0, 0.0]],
    "symmetric": [[0.0, 0.0], [2.0, 0.0], [1.0, np.sqrt(3.0)]],
    "thin": [[0.0, 0.0], [50.0, 0.0], [17.0, 1.0]],
    "needle": [[0.0, 0.0], [1000.0, 0.0], [480.0, 1.0]],
    "tiny": [[1e-6, 0.0], [3e-6, 1e-6], [0.0, 2e-6]],
    "huge and far": [[1e9, 1e9], [1e9 + 3e6, 1e9], [1e9, 1e9 + 2e6]],
}


@pytest.fixture(params=TRIANGLES)
def triangle(request):
    return np.array(TRIANGLES[request.param])
