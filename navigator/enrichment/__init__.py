"""What a model writes about sections before anybody asks: summaries for tables of contents, titles inside long sections.
In come trees and notes of ingest; a batch asks, and `ritbot enrich` runs it.
"""
