"""Ways to answer a question: `rit`, and those that it is compared with. `build` knows them all by name.
Each takes an AnswerRun to its answer, over the same retriever, stores and model; none knows another's state."""
