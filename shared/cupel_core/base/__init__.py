"""Contains small modules that every other package uses: ids, the clock, errors, paging and messages."""
