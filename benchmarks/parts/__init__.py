"""The parts of performance.py: engines, slopes and peers, how memory is measured, and the page that is written."""
