// The keys of adjudicators, as keys.js has those of annotators.
export const KEYS = {
	Decide: [
		[
			"1 2 3 4 5 6 7 8 9",
			"vote",
			"take the vote with this number, go to the next difference",
			"1 2 …",
		],
		["s", "sure", "decide: sure link"],
		["d", "possible", "decide: possible link"],
		["x Delete", "none", "decide: no link", "x"],
		["u C-z", "undo", "undo", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
		["o", "alone", "switch: decide one cell alone, or neighbours with equal votes together"],
		["c", "comment", "add a note to the decision"],
		["l", "label", "go to the judgment of the pair, to settle it"],
	],
	Moves: [
		["j", "difference", "next difference"],
		["k", "back-difference", "previous difference"],
		["Arrow", "step", "move one cell", "←→↑↓"],
		[
			"C-Arrow",
			"far",
			"go to the next link of the gold standard, or to the edge if there is none",
			"Ctrl+←→↑↓",
		],
		["Escape", "escape", "from anywhere: back to the matrix", "Esc"],
	],
	Pair: [
		["C-Enter", "done", "mark as done, go to the next pair", "Ctrl+Enter"],
		["n", "next", "next pair"],
		["p", "previous", "previous pair"],
		["/", "pairs", "list the pairs that are ready"],
		["g", "guidelines", "open the guidelines"],
		["?", "help", "show these keys"],
	],
}
