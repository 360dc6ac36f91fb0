// Mouse and touch: click cycles, dragging draws a block; a finger pans unless it rests or the Block
// button is on.
import {on} from "./dom.js"

const REST = 300
const SLACK = 8
const EDGE = 4
const STEP = 14
const same = (a, b) => String(a) === String(b)

// `act` has cycle(place), block(from, to), preview(from or null, to), word(side, at), blocking().
export function onMatrix(matrix, act) {
	const {root} = matrix
	let hold = null // {id, from, to, x, y, touch, drawing, timer}
	const end = () => {
		clearTimeout(hold?.timer)
		hold = null
		act.preview(null)
	}
	const start = () => {
		hold.drawing = true
		act.preview(hold.from, hold.to)
	}
	on(root, "pointerdown", event => {
		const {clientX: x, clientY: y, pointerId: id, pointerType} = event
		const from =
			!event.button && !hold && !event.target.closest(".heads, .corner") && matrix.cellAt(x, y)
		if (!from) return
		hold = {id, from, to: from, x, y, touch: pointerType === "touch"}
		if (!hold.touch) event.preventDefault()
		else if (act.blocking()) start()
		else hold.timer = setTimeout(start, REST)
	})
	on(root, "pointermove", ({clientX: x, clientY: y, pointerId}) => {
		if (pointerId !== hold?.id) return
		const far = Math.hypot(x - hold.x, y - hold.y) > SLACK
		if (!hold.drawing && hold.touch) return void (far && end())
		hold.to = matrix.cellAt(x, y, true)
		if (!hold.drawing) {
			if (!far || same(hold.to, hold.from) || matrix.pair.isNull(matrix.pair.index(hold.from)))
				return
			start()
			root.setPointerCapture(pointerId)
		}
		const {left, right, top, bottom} = root.getBoundingClientRect()
		const by = (value, low, high) => {
			if (value > high - EDGE) return STEP
			return value < low + EDGE ? -STEP : 0
		}
		root.scrollBy(by(x, left, right), by(y, top, bottom))
		act.preview(hold.from, hold.to)
	})
	on(root, "pointerup", event => {
		if (event.pointerId !== hold?.id) return
		const {from, to, drawing} = hold
		end()
		if (!drawing || same(from, to)) act.cycle(from)
		else act.block(from, to)
	})
	on(window, "pointercancel", () => hold && end()) // where another pair is opened too
	const keepStill = event => {
		if (hold?.drawing) event.preventDefault()
	}
	on(root, "touchmove", keepStill, {passive: false})
	on(root, "contextmenu", event => {
		if (hold) event.preventDefault()
	})
	on(root, "click", event => {
		const {row, column} = event.target.closest("text")?.dataset || {}
		if (row || column) act.word(row ? 0 : 1, Number(row ?? column))
	})
}
