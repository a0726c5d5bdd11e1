"""A switch or network alone: its files, what they are made into, its runs."""
