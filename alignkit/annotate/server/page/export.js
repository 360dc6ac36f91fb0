// Download a project's work, a backup; archive it.
import {$, html, on, say} from "./dom.js"
import {api, below, download, plural, question, size, toast, tried, when} from "./manage.js"
import {begin} from "./tabs.js"

const form = $("export")

begin(async (me, project) => {
	const {role} = project
	const decides = role === "owner" || role === "adjudicator"
	let turn = 0

	const own = [me.account, "My work"]
	let everyone = []
	if (decides) everyone = [["all", "Everyone"], ...project.annotators.map(who => [who, who])]
	else if (project.annotates || role === "annotator") everyone = [own]
	const what = role === "annotator" ? [own] : [["gold", "Gold"], ...everyone]
	form.elements.what.replaceChildren(...what.map(([value, text]) => html("option", {value}, text)))
	$("names").hidden = !decides
	$("owner").hidden = role !== "owner"

	function query(more) {
		const {
			what: {value},
			format,
			provenance,
			unfinished,
			hidden,
		} = form.elements
		const asked = {
			format: format.value,
			what: value,
			done: !unfinished.checked,
			provenance: provenance.checked,
			hidden: hidden.checked,
			...more,
		}
		return below(`export?${new URLSearchParams(asked)}`)
	}

	async function look() {
		const mine = ++turn
		const answer = await api("GET", query({dry_run: true}))
		if (mine !== turn) return
		const {files, lost, unfinished, message, backup, last} = answer
		$("files").replaceChildren(
			...files.map(([file, counts]) =>
				html("li", {}, html("b", {}, file), html("span", {}, counts)),
			),
		)
		say("unfinished", unfinished ? unfinished.toLocaleString("en") : "")
		say("lost", lost.length ? `This format cannot represent: ${lost.join(", ")}.` : "")
		say("message", message)
		$("go").disabled = !files.length
		say("size", backup ? ` ${size(backup)}` : "")
		$("last").replaceChildren()
		if (last) $("last").append("Last: ", when(last[0]), `, ${last[1]}`)
	}

	// Who downloads all sees others' votes: pairs still to do by oneself are asked about.
	function allowed() {
		const [done, all] = project.mine
		if (done === all) return true
		return question({
			title: `You have ${plural(all - done, "pair")} to do`,
			text: "This file shows the work of others on them. The log will say so.",
			yes: "Download",
		})
	}

	const fetched = (path, all) =>
		tried(
			async () => {
				if (all && !(await allowed())) return
				await download(path, bytes => say("progress", `Downloading: ${size(bytes)}`))
				say("progress", "Downloaded.")
			},
			() => say("progress", ""),
		)

	function drawn() {
		const archived = project.state === "archived"
		say("archive", archived ? "Reopen project" : "Archive project")
		say(
			"archive-note",
			archived
				? "It is archived. Everyone can read it, nobody can change it."
				: "Everyone can still read it, nobody can change it. You can reopen it.",
		)
	}

	// Archive it, or open it again.
	async function put() {
		const state = project.state === "open" ? "archived" : "open"
		project = {...project, ...(await api("PATCH", below(""), {etag: project.etag, state}))}
		drawn()
	}

	const archive = async () => {
		await put()
		toast(`${project.name} is ${project.state === "open" ? "open again" : "archived"}.`, put)
	}
	const changed = async () => {
		project = await api("GET", below(""))
		drawn()
	}
	on(form, "change", () => tried(look))
	on(form, "submit", event => {
		event.preventDefault()
		const {
			what: {value},
			unfinished,
		} = form.elements
		fetched(query(), value !== "gold" && value !== me.account && unfinished.checked)
	})
	on($("backup"), "click", () => fetched(below("backup"), true))
	on($("archive"), "click", () => tried(archive, changed))
	drawn()
	await look()
})
