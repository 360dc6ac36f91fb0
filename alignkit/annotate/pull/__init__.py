"""How far suggestions pull annotators, by a control sample in which some see none."""
