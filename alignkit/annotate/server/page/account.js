// One's own account: password, sessions, tokens.
import {$, button, html, say} from "./dom.js"
import {
	api,
	cell,
	date,
	entered,
	Fault,
	head,
	once,
	question,
	rows,
	toast,
	when,
	whenSent,
} from "./manage.js"
import {begin} from "./tabs.js"

// "Firefox on Linux"
function named(agent) {
	const of = names => names.find(name => agent.includes(name))
	const browser = of(["Edg", "Firefox", "Chrome", "Safari"])?.replace("Edg", "Edge")
	return (
		[browser, of(["Windows", "Android", "iPhone", "iPad", "Mac", "Linux"])]
			.filter(Boolean)
			.join(" on ") || agent
	)
}

begin(async me => {
	say("title", me.account)
	$("display").value = me.display
	whenSent($("naming"), async ({display}) => {
		await api("PUT", "me/display", {display})
		toast("Your name is changed.")
	})
	$("project").append(...me.roles.map(({slug, name}) => html("option", {value: slug}, name)))

	const end = (what, text, path, again) =>
		question({
			...what,
			text,
			act: async () => {
				await api("DELETE", path)
				await again()
			},
		})
	const sessions = async () => {
		const held = (await api("GET", "me/sessions")).sessions
		$("others").hidden = held.length < 2
		rows(
			$("sessions"),
			held,
			({id, device, address, seen, current}) => [
				head(named(device)),
				cell(address),
				cell(when(seen)),
				html(
					"td",
					{class: "acts"},
					current
						? "this browser"
						: button(
								() =>
									end(
										{title: `End the session on ${named(device)}?`, yes: "End"},
										"Unsent edits are kept in that browser.",
										`me/sessions/${id}`,
										sessions,
									),
								"plain",
								"End",
							),
				),
			],
			"id",
		)
	}
	const tokens = async () => {
		const held = (await api("GET", "me/tokens")).tokens
		$("no-tokens").hidden = held.length > 0
		rows(
			$("tokens"),
			held,
			({id, name, begins, project, read_only: read, expires, used = ""}) => [
				head(name),
				cell(html("code", {}, `${begins}…`)),
				cell(project || "all projects"),
				cell(read ? "read" : "read and write"),
				cell(date(expires)),
				cell(when(used)),
				html(
					"td",
					{class: "acts"},
					button(
						() =>
							end(
								{title: `Delete the token ${name}?`, yes: "Delete"},
								"Programs that use it get no more answers.",
								`me/tokens/${id}`,
								tokens,
							),
						"plain",
						"Delete",
					),
				),
			],
			"id",
		)
	}

	whenSent($("password"), async ({old, new: fresh, again}) => {
		if (fresh !== again) throw new Fault({message: "The two passwords differ.", field: "again"})
		const answer = await api("PATCH", "me", {old, new: fresh})
		if (answer?.csrf) entered(answer)
		$("password").reset()
		await sessions()
		toast("The password is changed.")
	})
	whenSent($("token"), async ({name, project, days, read_only: read}) => {
		const made = await api("POST", "me/tokens", {
			name,
			project,
			read_only: !!read,
			days: Number(days),
		})
		$("token").reset()
		await tokens()
		once(
			$("made"),
			made.token,
			`Use it as “Authorization: Bearer …”. It works until ${date(made.expires)}, and is shown only now.`,
		)
	})
	$("others").onclick = () =>
		end(
			{title: "End all other sessions?", yes: "End all others"},
			"Unsent edits are kept in those browsers.",
			"me/sessions",
			sessions,
		)
	await Promise.all([sessions(), tokens()])
})
