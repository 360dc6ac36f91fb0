// The settings of a project, its import, its log, and its end.
import {$, button, html, on, say, set} from "./dom.js"
import {
	api,
	below,
	download,
	plural,
	question,
	root,
	slug,
	toast,
	tried,
	whenSent,
} from "./manage.js"
import {log} from "./audit.js"
import {begin} from "./tabs.js"
import {percent} from "./trained.js"

const form = $("settings")
const TICKS = ["learning", "blind", "majority"]

begin(async (me, project) => {
	let timer = 0
	const field = name => form.elements[name]
	field("suggestions").querySelector("[value=encoder]").hidden = !me.encoder

	function fill() {
		const {settings, name, state} = project
		field("name").value = name
		field("guidelines").value = settings.guidelines
		for (const tick of TICKS) field(tick).checked = settings[tick]
		field("doubt").value = String(settings.doubt)
		$("looks").hidden = project.task !== "align"
		field("suggestions").options[0].text = settings.suggestions || "as they are"
		field("suggestions").value = ""
		for (const part of [...form.elements, $("import")]) part.disabled = state === "archived"
		say(
			"end-note",
			state === "archived"
				? "This cannot be undone."
				: "Archive the project first, on Export. Then it can be deleted.",
		)
		$("delete").hidden = state !== "archived"
		training()
	}

	// An aligner that trains is followed until it is done.
	function training() {
		clearTimeout(timer)
		const {training: now} = project.settings
		$("training").hidden = !now
		if (!now) return
		say("training-text", now[0])
		set($("training-bar"), {value: now[1]})
		timer = setTimeout(
			() =>
				tried(async () => {
					project = await api("GET", below(""))
					training()
				}),
			2000,
		)
	}

	const values = () => ({
		name: field("name").value,
		guidelines: field("guidelines").value,
		doubt: Number(field("doubt").value),
		...Object.fromEntries(TICKS.map(tick => [tick, field(tick).checked])),
	})

	async function put(change) {
		project = {...project, ...(await api("PATCH", below(""), {etag: project.etag, ...change}))}
		fill()
	}

	// The training round

	let round = null // as the server has it

	const inPercent = mark => String(Number((100 * mark).toFixed(2)))

	function drawRound(answer) {
		round = answer.now
		const {golds, now, mark} = answer
		$("round-gold").replaceChildren(
			...golds.map(([name, pairs]) =>
				html("option", {value: name}, `${name}, ${plural(pairs, "finished pair")}`),
			),
		)
		$("round").hidden = project.task !== "align" || project.state === "archived"
		$("round-end").hidden = !now
		$("round").querySelector("button:not([type])").disabled = !golds.length
		$("round-mark").value ||= inPercent(mark)
		let text = golds.length ? "There is no training round." : "No pair has gold yet."
		if (now) {
			text =
				`In force: ${plural(now.pairs.length, "pair")}, the links of ${now.gold}, ` +
				`${percent(now.mark)} passes. People shows who did.`
			$("round-gold").value = now.gold
			$("round-pairs").value = now.pairs.join("\n")
			$("round-mark").value = inPercent(now.mark)
		}
		say("round-now", text)
	}

	const putRound = body => api("PUT", below("training-round"), body)

	whenSent($("round"), async ({gold, pairs, mark}) => {
		const ids = pairs.split("\n").map(id => id.trim())
		const body = {
			gold,
			pairs: ids.filter(Boolean),
			mark: Number((Number(mark) / 100).toFixed(6)),
			round: round?.round ?? 0,
		}
		const {said} = await putRound({...body, dry_run: true})
		const again = round ? ["The present round ends: who has passed it has to pass this one."] : []
		await question({
			title: "Begin this training round?",
			text: [...said, ...again].join(" "),
			yes: "Begin training round",
			act: async () => {
				drawRound(await putRound(body))
				toast("The training round has begun.")
			},
		})
	})
	on($("round-end"), "click", () =>
		question({
			title: "End the training round?",
			text: "All annotators may work then. A new round has to be passed from its beginning.",
			yes: "End training round",
			act: async () => {
				drawRound(await api("DELETE", below("training-round")))
				toast("The training round has ended.")
			},
		}),
	)

	whenSent(form, async ({suggestions}) => {
		const {
			name,
			settings: {guidelines, learning, blind, majority, doubt},
		} = project
		const before = {name, guidelines, learning, blind, majority, doubt}
		const change = Object.fromEntries(
			Object.entries(values()).filter(([key, value]) => value !== before[key]),
		)
		const back = Object.fromEntries(Object.keys(change).map(key => [key, before[key]]))
		if (suggestions) change.suggestions = suggestions
		if (!Object.keys(change).length) return toast("Nothing has changed.")
		await put(change)
		toast("Saved.", Object.keys(back).length ? () => put(back) : undefined)
	})
	on($("stop"), "click", () => tried(() => put({stop_training: true})))
	on($("import"), "click", () =>
		tried(async () =>
			location.assign(`${root}new/${(await api("POST", "drafts", {project: slug})).id}`),
		),
	)
	on($("delete"), "click", async () => {
		const {name, pairs, annotators} = project
		const backup = button(() => tried(() => download(below("backup"))), "", "Download backup")
		const people = plural(annotators.length, "person", "people")
		const text = `${plural(pairs, "pair")} and the work of ${people} will be gone for good.`
		const gone = await question({
			title: `Delete “${name}”?`,
			text,
			more: [backup],
			label: `Type ${name} to confirm`,
			must: name,
			yes: "Delete",
			bad: true,
			act: typed => api("DELETE", below(""), {name: typed}),
		})
		if (gone) location.assign(root)
	})
	fill()
	if (project.task === "align")
		tried(async () => drawRound(await api("GET", below("training-round"))))
	on($("log"), "toggle", () => log(below("log")), {once: true})
})
