"""Findings as a table, as JSON and as SARIF."""
