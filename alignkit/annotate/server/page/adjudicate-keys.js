// The keys of adjudicators, as keys.js has those of annotators.
export const KEYS = {
	Decide: [
		["1 2 3 4 5 6 7 8 9", "vote", "take the vote of that number, and go on to the next difference", "1 2 …"],
		["s", "sure", "your own: sure"],
		["d", "possible", "your own: possible"],
		["x Delete", "none", "your own: no link", "x"],
		["u C-z", "undo", "undo", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
		["o", "alone", "one cell alone, or neighbours with equal votes together"],
		["c", "comment", "a note that is kept with the decision"],
		["l", "label", "judge the pair otherwise than all"],
	],
	Moves: [
		["j", "difference", "next difference"],
		["k", "back-difference", "previous difference"],
		["Arrow", "step", "one cell, as seen", "←→↑↓"],
		["C-Arrow", "far", "to the next link of gold, else to the edge", "Ctrl+←→↑↓"],
		["Escape", "escape", "from anywhere: back to the matrix", "Esc"],
	],
	Pair: [
		["C-Enter", "done", "done, on to the next pair", "Ctrl+Enter"],
		["n", "next", "next pair"],
		["p", "previous", "previous pair"],
		["/", "pairs", "all pairs that are ready"],
		["g", "guidelines", "guidelines"],
		["?", "help", "these keys"],
	],
}
