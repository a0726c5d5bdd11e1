"""Files of traces in a folder, and the operations that were read from them."""


def laid(folder, files):
    """Write files by name and return their folder."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def told(graph, rank=0):
    """Return the operations of a rank in words."""
    here = range(graph.first[rank], graph.first[rank + 1])
    return [graph.told(one).partition(": ")[2] for one in here]
