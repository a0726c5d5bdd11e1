"""Numbers of every origin as rows of one long table, and what is asked of it."""
