/** CORS says which pages of other sites may read replies. Preflight requests are answered before any route. */
import { cors, createApp } from 'volant'

export const app = createApp()

app.use(
  '/api',
  cors({ origin: ['https://app.example', 'http://localhost:5173'], credentials: true, maxAge: 600 }),
)
app.use('/public', cors()) // every page, without cookies

app.put('/api/users/:id', (ctx) => ({ id: ctx.params.id }))
app.get('/public/news', () => ['nothing new'])

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
