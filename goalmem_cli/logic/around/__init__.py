"""Rules that read the words around a time expression to decide which days it means."""
