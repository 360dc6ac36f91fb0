"""What several commands share: inputs, outputs, messages."""
