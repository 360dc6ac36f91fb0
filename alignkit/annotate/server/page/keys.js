// The key map: one table, from which keys act and the help is made.
import {mapped} from "./keyboard.js"

// [keys, action, what it does, what the help shows in place of the keys]; "C-" is Ctrl (or Cmd),
// "S-" Shift, "Arrow" each of the four.

export const KEYS = {
	Moves: [
		["Arrow", "step", "move one cell", "←→↑↓"],
		[
			"C-Arrow",
			"far",
			"go to the next link or suggestion, or to the edge if there is none",
			"Ctrl+←→↑↓",
		],
		[
			"j",
			"doubtful",
			"next doubtful cell: an open suggestion, " +
				"or a link below 97 % that you accepted with A and have not looked at",
		],
		["k", "doubtful-back", "previous doubtful cell"],
		[
			"w",
			"source",
			"go to the most probable cell of the next source word without a link (Shift: of the previous one)",
		],
		[
			"t",
			"target",
			"go to the most probable cell of the next target word without a link (Shift: of the previous one)",
		],
		["W", "source-back"],
		["T", "target-back"],
	],
	Links: [
		[" ", "cycle", "change no link to sure, sure to possible, possible to no link", "Space"],
		["s", "sure", "make the cell a sure link"],
		["d", "possible", "make the cell a possible link"],
		["x Delete", "none", "remove the link, or reject the suggestion", "x"],
		["Enter", "accept", "accept the suggestion, go to the next doubtful cell"],
		[
			"Backspace",
			"reject",
			"reject the suggestion or remove the link, go to the next doubtful cell",
		],
		[
			"A",
			"accept-all",
			"accept all suggestions with a probability of 90 % or more; these links are marked until you look at them",
		],
		["u C-z", "undo", "undo, without limit", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
	],
	Boxes: [
		[
			"S-Arrow",
			"select",
			"select a box; s d x Space Enter Backspace then act on the whole box",
			"Shift+←→↑↓",
		],
		["C-S-Arrow", "select-far", "extend the box to the next link or suggestion", "Ctrl+Shift+←→↑↓"],
		[
			"b",
			"grow",
			"extend the box (or the cell) until no link joins a word inside to a word outside: a phrase pair",
		],
		[
			"o",
			"blocker",
			"go to a link from a word inside the box to a word outside " +
				"(because of this link, the box is no phrase pair); again: to the next of these links",
		],
		[
			"f",
			"phrases",
			"outline all atomic phrase pairs; again: also all composite ones; " +
				"again: only the phrase pair at the cursor",
		],
		["Escape", "escape", "clear the box; from anywhere: back to the matrix", "Esc"],
	],
	Pair: [
		["C-Enter", "done", "mark as done, go to the next open pair", "Ctrl+Enter"],
		["n", "next", "next pair"],
		["p", "previous", "previous pair"],
		[
			"v",
			"own-links",
			"show what you linked the source word to, here and in your other pairs (Shift: the target word)",
		],
		["V", "own-links-target"],
		["c", "comment", "comment on the link under the cursor, or on the pair"],
		["l", "label", "judge the pair"],
		["h", "hide", "hide or show suggestions"],
		["/", "find", "find a pair"],
		["g", "guidelines", "open the guidelines"],
		["?", "help", "show these keys"],
	],
}

export const ACTIONS = mapped(KEYS)
