const users = await (await fetch('/api/users')).json()
document.querySelector('h1').textContent = users.map(({ name }) => name).join(', ')
