"""What a judge is asked about an answer, and what is taken of its reply; opinions are asked for once and kept.
The answers of an evaluation come in, and the questions that proposing tries; rubrics and inquiries are pure.
"""
