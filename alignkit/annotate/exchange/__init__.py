"""The ways into a project and out of it: corpora, documents, the work of other projects."""
