/** What the page can do beyond being read: sorting tables, choosing entries, telling values that are pointed at. */

/** Runs in the browser, so it is text here; the page is whole without it. */
export const script = `
'use strict'
const number = (cell) => cell && cell.dataset.value !== undefined ? Number(cell.dataset.value) : NaN
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0]
  ;[...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...head.childNodes)
    head.append(button)
    button.addEventListener('click', () => {
      const before = head.getAttribute('aria-sort')
      const first = head.dataset.better === 'higher' ? 'descending' : 'ascending'
      const order = before === null ? first : before === 'ascending' ? 'descending' : 'ascending'
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort')
      head.setAttribute('aria-sort', order)
      const sign = order === 'ascending' ? 1 : -1
      const rows = [...body.rows]
      const compare = (a, b) => {
        const left = number(a.cells[column]), right = number(b.cells[column])
        if (Number.isNaN(left) && Number.isNaN(right)) {
          if (table.tHead.rows[0].cells.length !== a.cells.length || a.cells.length !== b.cells.length) return a.cells.length === b.cells.length ? 0 : b.cells.length - a.cells.length
          return sign * a.cells[column].textContent.localeCompare(b.cells[column].textContent, 'en', { numeric: true })
        }
        if (Number.isNaN(left)) return 1
        if (Number.isNaN(right)) return -1
        return sign * (left - right)
      }
      body.append(...rows.filter((row) => !row.classList.contains('problem')).sort(compare), ...rows.filter((row) => row.classList.contains('problem')))
    })
  })
}

const named = [...document.querySelectorAll('[data-entry]')]
const titles = new Map([...document.querySelectorAll('#entries tr[data-entry]')].map((row) => [row.dataset.entry, row.cells[0].textContent]))
const names = [...new Set(named.map((one) => one.dataset.entry))]
if (names.length > 1) {
  const hidden = new Set()
  const box = document.createElement('details')
  box.className = 'filter'
  const summary = document.createElement('summary')
  summary.textContent = 'Choose entries'
  const list = document.createElement('div')
  const boxes = names.map((name) => {
    const label = document.createElement('label')
    const input = document.createElement('input')
    input.type = 'checkbox'
    input.checked = true
    input.addEventListener('change', () => { input.checked ? hidden.delete(name) : hidden.add(name); apply() })
    label.append(input, ' ' + (titles.get(name) || name))
    list.append(label)
    return input
  })
  const apply = () => {
    for (const one of named) one.toggleAttribute('data-off', hidden.has(one.dataset.entry))
    summary.textContent = hidden.size ? 'Choose entries (' + (names.length - hidden.size) + ' of ' + names.length + ')' : 'Choose entries'
  }
  for (const [text, on] of [['all', true], ['none', false]]) {
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = text
    button.addEventListener('click', () => {
      boxes.forEach((input, index) => { input.checked = on; on ? hidden.delete(names[index]) : hidden.add(names[index]) })
      apply()
    })
    list.append(button)
  }
  box.append(summary, list)
  document.querySelector('nav').append(box)
}

const tip = document.createElement('div')
tip.id = 'tip'
tip.setAttribute('role', 'status')
document.body.append(tip)
const show = (event) => {
  const target = event.target.closest && event.target.closest('[data-tip]')
  for (const line of document.querySelectorAll('.line.on')) line.classList.remove('on')
  const line = event.target.closest && event.target.closest('.line')
  if (line) { line.classList.add('on'); line.parentNode.classList.add('chosen') }
  else for (const svg of document.querySelectorAll('svg.chosen')) svg.classList.remove('chosen')
  tip.hidden = !target
  if (!target) return
  tip.textContent = target.dataset.tip
  const x = Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))
  const y = event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18
  tip.style.transform = 'translate(' + x + 'px,' + y + 'px)'
}
tip.hidden = true
addEventListener('pointermove', show)
addEventListener('pointerdown', show)
addEventListener('scroll', () => { tip.hidden = true }, { passive: true })
`
