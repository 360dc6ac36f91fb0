// The list of pairs that are ready, loaded when it is asked for.
import {finder} from "./dialogs.js"
import {$} from "./dom.js"
import {plural} from "./words.js"

const told = ({state, left, stake}) => {
	const open = left ? `${left} to settle` : "rewrites to look at"
	return (
		{open, reopened: `changed since, ${open}`, agreed: "all agree", done: "done"}[state] +
		(stake ? `; ${plural(stake, "phrase pair")} at stake` : "")
	)
}

export function list(app) {
	app.finding ||= finder(app, told, ({total, done, open, project}) => {
		const agreed = total - done - open
		$("settle").hidden = !agreed
		$("settle").textContent = `Mark ${plural(agreed, "pair")} as done: all agree`
		$("settle").onclick = () => settle(app)
		return `${total} of ${plural(project, "pair")} ready, ${done} done`
	})
	return app.finding()
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
			$("find-message").textContent = `${count} marked done …`
		}
		await list(app)
		app.tally(await app.wire.peek(app.doc.k))
		app.title()
	} catch (error) {
		$("find-message").textContent = error.message
	}
	$("settle").disabled = false
}
