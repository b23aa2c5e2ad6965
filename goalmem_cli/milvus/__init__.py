"""The same memory on Milvus: embedded, on a server or a cluster, behind the Protocols of `memory_ports.py`."""
