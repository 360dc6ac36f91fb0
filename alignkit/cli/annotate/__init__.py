"""The commands of annotation projects."""
