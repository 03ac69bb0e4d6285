"""The eight queries of the ADL benchmark, written four ways, and events to run them on."""
