"""Measuring strategies on questions whose answers are known: contenders in, right or wrong and at what cost out.
No vendor, store or terminal; commands of deploy drive it, and what a run pays for goes through navigator.batch.
"""
