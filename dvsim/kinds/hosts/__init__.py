"""Messaging over hosts: its files and its runs."""
