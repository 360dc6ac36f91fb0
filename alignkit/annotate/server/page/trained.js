// How far annotators are in the training round, in words.
const DAY = new Intl.DateTimeFormat("en-GB", {day: "numeric", month: "short", year: "numeric"})
export const percent = f1 => (f1 === null ? "no links" : `${(100 * f1).toFixed(1)} %`)

export function trained({state, attempt, done, f1, at, by}, size) {
	const reached = `${percent(f1)} in attempt ${attempt}`
	const day = at && DAY.format(new Date(at))
	if (state === "passed") return `passed: ${reached}, ${day}`
	if (state === "by hand") return `let in by ${by}, ${day}${attempt ? `; ${reached}` : ""}`
	if (state === "begun") return "had begun before"
	if (state === "failed") return `not passed: ${reached}`
	if (state === "open") return `attempt ${attempt}: ${done} of ${size} pairs, ${percent(f1)}`
	return "not begun"
}
