// The key map: one table, from which keys act and the help is made.
import {mapped} from "./keypress.js"

// [keys, action, what it does, what the help shows in place of the keys]; "C-" is Ctrl (or Cmd),
// "S-" Shift, "Arrow" each of the four.

export const KEYS = {
	Words: [
		["Enter", "accept", "keep the links as they are shown, and go to the next doubtful word"],
		["Digit", "candidate", "link this candidate alone, and go on", "1 … 9"],
		["S-Digit", "switch", "add or remove this candidate, and stay; Enter goes on", "Shift+1 … 9"],
		["Backspace 0", "reject", "no link, and go on", "Backspace"],
		["e", "before", "the same partners as the word before, and go on: for blocks"],
		[
			"i",
			"letters",
			"letters appear at the words of the other side: link this word alone, and go on " +
				"(with Shift: add or remove it, and stay)",
			"i, letter",
		],
		["m", "letters-own", "go to a word by its letter, doubtful or not", "m, letter"],
		["j", "doubtful", "go to the next doubtful word, without a change"],
		["k", "doubtful-back", "go to the previous doubtful word"],
		["a", "side", "stop at the words of the other side"],
		[
			"d",
			"possible",
			"make the links of the word possible; after Shift+1 … 9 or Shift+letter that link alone; " +
				"at a cell, the cell",
		],
		["s", "sure", "make them sure"],
		["u C-z", "undo", "undo, without limit", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
	],
	Cells: [
		["Arrow", "step", "move to a cell: the keys below, Enter and Backspace act there", "←→↑↓"],
		[
			"C-Arrow",
			"far",
			"go to the next link, shown or settled, or to the edge if there is none",
			"Ctrl+←→↑↓",
		],
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
		[" ", "cycle", "change no link to sure, sure to possible, possible to no link", "Space"],
		["x Delete", "none", "remove the link, and stay", "x"],
	],
	Boxes: [
		[
			"S-Arrow",
			"select",
			"select a box; s d x Space Enter Backspace then act on the whole box",
			"Shift+←→↑↓",
		],
		["C-S-Arrow", "select-far", "extend the box to the next link", "Ctrl+Shift+←→↑↓"],
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
		["Escape", "escape", "leave letters, box and cell; from anywhere: back to the matrix", "Esc"],
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
