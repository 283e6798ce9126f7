'use strict'

/** Fills in the table of workers, and restarts them. How figures are written is in dashboard.js, which calls this. */
{
  const table = document.querySelector('#workers tbody')
  const template = document.getElementById('worker')
  const button = document.getElementById('restart')
  /** So long after it was asked for, in ms, a roll that was not seen is not waited for. */
  const patience = 15000
  /** What the button has asked for: the workers of then, and whether their roll was seen. */
  let asked = null
  let wasRolling = document.getElementById('roll').textContent !== ''

  /** Shows all workers; those that have ended leave the table. */
  window.showWorkers = ({ workers, restarts, here, isRolling }) => {
    const rows = workers.map((worker) => {
      const row = table.querySelector(`[data-pid="${worker.pid}"]`) ?? add(worker.pid)
      write(row, worker, here)
      return row
    })
    for (const row of table.querySelectorAll('tr')) if (!rows.includes(row)) row.remove()
    rows.forEach((row, at) => {
      if (table.rows[at] !== row) table.insertBefore(row, table.rows[at] ?? null)
    })
    put(document.getElementById('ready'), String(workers.filter(({ state }) => state === 'ready').length))
    const told = Object.entries(restarts).filter(([, count]) => count > 0)
    const reasons = told.map(([reason, count]) => `${count} by ${reason}`).join(', ')
    put(document.getElementById('restarts'), reasons === '' ? 'none' : reasons)
    watch(workers, isRolling)
  }

  button?.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    const pids = [...table.rows].map(({ dataset }) => Number(dataset.pid))
    asked = { pids, began: performance.now(), seen: false }
    button.setAttribute('aria-disabled', 'true')
    tell('The workers are replaced, one after the other')
    try {
      const reply = await fetch('/live/restart', { method: 'POST', signal: AbortSignal.timeout(10000) })
      if (!reply.ok) throw new Error(`status ${reply.status}`)
    } catch (error) {
      asked = null
      button.removeAttribute('aria-disabled')
      tell(`The workers were not restarted: ${error.message}`, true)
    }
  })

  /** Says how far a roll is. One that this page has not asked for leaves no word when it is over. */
  function watch(workers, isRolling) {
    const stay = asked === null ? 0 : workers.filter(({ pid }) => asked.pids.includes(pid)).length
    if (isRolling) {
      if (asked !== null) asked.seen = true
      const left = asked === null ? '' : `: ${stay} of ${asked.pids.length} to go`
      tell(`The workers are replaced, one after the other${left}`)
      wasRolling = true
    } else if (asked !== null && stay === 0) {
      tell(`All workers were replaced, within ${Math.ceil((performance.now() - asked.began) / 1000)} s`)
      asked = null
    } else if (asked !== null && (asked.seen || performance.now() - asked.began > patience)) {
      tell(`${stay} of the workers stay as they were: the log of the service says why`, true)
      asked = null
    } else if (asked === null && wasRolling) {
      tell('')
    }
    if (!isRolling) wasRolling = false
    button?.setAttribute('aria-disabled', String(isRolling || asked !== null))
  }

  function tell(text, failed = false) {
    const roll = document.getElementById('roll')
    put(roll, text)
    roll.classList.toggle('failed', failed)
  }

  function add(pid) {
    const row = template.content.firstElementChild.cloneNode(true)
    row.dataset.pid = pid
    table.append(row)
    return row
  }

  function write(row, { pid, worker, state, isStuck, uptime, connections, rate, load, memory }, here) {
    row.dataset.state = isStuck ? 'stuck' : state
    row.classList.toggle('here', pid === here)
    const texts = {
      slot: String(worker),
      pid: String(pid),
      state: row.dataset.state,
      up: duration(uptime),
      open: number(connections),
      rate: rate === null ? '–' : number(rate),
      load: load === null ? '–' : percent(load),
      memory: memory === 0 ? '–' : megabytes(memory),
    }
    for (const [name, text] of Object.entries(texts)) put(row.querySelector(`.${name} span`), text)
  }

  function put(element, text) {
    if (element.textContent !== text) element.textContent = text
  }
}
