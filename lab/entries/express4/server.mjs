import cors from 'cors'
import express from 'express'
import morgan from 'morgan'
import { serve } from '../express-programs.mjs'

await serve({ express, morgan, cors, bring: (name) => import(name) })
