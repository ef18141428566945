"""The event log on Kafka by aiokafka, which nothing outside this package imports.
Entered by the composition root alone."""
