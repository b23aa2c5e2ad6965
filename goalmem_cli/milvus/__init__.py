"""A memory in Milvus (embedded, a server or a cluster) that implements the Protocols of `memory_ports.py`."""
