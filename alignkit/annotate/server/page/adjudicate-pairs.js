// The list of pairs that are ready, loaded when it is asked for.
import {$, button, html} from "./dom.js"
import {show} from "./question.js"
import {plural} from "./words.js"

const MOST = 1000

export async function list(app) {
	const message = $("pairs-message"), told = ({state, left}) => ({open: left ? `${left} to settle` : "rewrites to look at", reopened: `changed since, ${left ? `${left} to settle` : "rewrites to look at"}`, agreed: "all agree", done: "done"})[state]
	const row = pair => html("li", {}, button(() => {
		$("pairs-dialog").close()
		app.load(pair.k)
	}, pair.k === app.doc.k ? "current" : "", html("span", {dir: "auto"}, pair.id), html("small", {}, told(pair) + (pair.stake ? `; ${plural(pair.stake, "phrase pair")} at stake` : ""))))
	message.textContent = "…"
	show("pairs-dialog")
	try {
		const {pairs, total, done, open, project} = await app.wire.get(`gold?limit=${MOST}`), agreed = total - done - open
		$("settle").hidden = !agreed
		$("settle").textContent = `Mark ${plural(agreed, "pair")} as done: all agree`
		$("settle").onclick = () => settle(app)
		$("pairs-list").replaceChildren(...pairs.map(row))
		message.textContent = `${total} of ${plural(project, "pair")} ready, ${done} done${total > MOST ? `; the first ${MOST} are listed` : ""}`
		$("pairs-list").querySelector(".current")?.focus()
	} catch (error) {
		message.textContent = error.message
	}
}

// Mark all pairs done on which all agree, so many at a time.
async function settle(app) {
	let count = 0
	$("settle").disabled = true
	try {
		for (let left = 1; left; ) {
			const answer = await app.wire.get("settle", null, {})
			count += answer.settled
			left = answer.left
			$("pairs-message").textContent = `${count} marked done …`
		}
		await list(app)
		app.tally(await app.wire.peek(app.doc.k))
		app.title()
	} catch (error) {
		$("pairs-message").textContent = error.message
	}
	$("settle").disabled = false
}
