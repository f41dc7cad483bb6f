"""Parameter studies, and huge teams in parts: on one machine or a Dask cluster."""
