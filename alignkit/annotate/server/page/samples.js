// A small corpus to try a project with: made for this purpose.
const PAIRS = [
	[
		"the council approved the new budget on monday .",
		"der rat hat am montag den neuen haushalt gebilligt .",
		"0-0 1-1 2-2 2-8 3-5 4-6 5-7 6-3 7-4 8-9",
	],
	[
		"we have not seen him yet .",
		"wir haben ihn noch nicht gesehen .",
		"0-0 1-1 2-4 3-5 4-2 5-3 6-6",
	],
	["the train arrives at noon .", "der zug kommt mittags an .", "0-0 1-1 2-2 2-4 3-3 4-3 5-5"],
	["what do you want to drink ?", "was möchtest du trinken ?", "0-0 1-1 2-2 3-1 5-3 6-4"],
]
export const SAMPLES = ["sample.en", "sample.de", "sample.align"].map((name, at) => [
	name,
	`${PAIRS.map(pair => pair[at]).join("\n")}\n`,
])
