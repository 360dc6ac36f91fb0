// The key map: one table, from which keys act and the help is made.
import {mapped} from "./keyboard.js"

// [keys, action, what it does, what the help shows in place of the keys]; "C-" is Ctrl (or Cmd), "S-" Shift, "Arrow" each of the four.

export const KEYS = {
	Moves: [
		["Arrow", "step", "move one cell", "←→↑↓"],
		["C-Arrow", "far", "go to the next link or suggestion, or to the edge", "Ctrl+←→↑↓"],
		["j", "doubtful", "next doubtful cell: an open suggestion, or a link accepted in bulk below 97 % and not looked at"],
		["k", "doubtful-back", "previous doubtful cell"],
		["w", "source", "next unaligned source word, at its likeliest cell (Shift: back)"],
		["t", "target", "next unaligned target word, at its likeliest cell (Shift: back)"],
		["W", "source-back"],
		["T", "target-back"],
	],
	Links: [
		[" ", "cycle", "change: none, sure, possible", "Space"],
		["s", "sure", "sure"],
		["d", "possible", "possible"],
		["x Delete", "none", "no link; a suggestion is rejected", "x"],
		["Enter", "accept", "accept the suggestion, go to the next doubtful cell"],
		["Backspace", "reject", "reject the suggestion or link, go to the next doubtful cell"],
		["A", "accept-all", "accept all suggestions of 90 % or more; they are marked until looked at"],
		["u C-z", "undo", "undo, without limit", "u"],
		["r C-y C-Z", "redo", "redo", "r"],
	],
	Boxes: [
		["S-Arrow", "select", "select a box; s d x Space Enter Backspace then act on all of it", "Shift+←→↑↓"],
		["C-S-Arrow", "select-far", "select to the next link or suggestion", "Ctrl+Shift+←→↑↓"],
		["b", "grow", "extend the box (or the cell) to a phrase"],
		["o", "blocker", "go to the link that blocks the box; again: to the next one"],
		["f", "phrases", "show the phrase at the cursor; again: all phrases; again: composite ones too"],
		["Escape", "escape", "clear the box; from anywhere: back to the matrix", "Esc"],
	],
	Pair: [
		["C-Enter", "done", "mark as done, go to the next open pair", "Ctrl+Enter"],
		["n", "next", "next pair"],
		["p", "previous", "previous pair"],
		["c", "comment", "comment on the link under the cursor, or on the pair"],
		["l", "label", "judge the pair"],
		["h", "hide", "hide or show suggestions"],
		["/", "find", "find a pair"],
		["g", "guidelines", "guidelines"],
		["?", "help", "show these keys"],
	],
}

export const ACTIONS = mapped(KEYS)
