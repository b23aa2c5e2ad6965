"""A memory in Milvus, embedded, on a server or on a cluster, with the Protocols of `memory_ports.py`."""
