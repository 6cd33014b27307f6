/** Control for starts: Express. Each response queries the database through Prisma Client if `DATABASE_URL` is set. */
import { createServer } from 'node:http'
import { PrismaPg } from '@prisma/adapter-pg'
import express from 'express'
import { PrismaClient } from '../../packages/server/generated/prisma/client.ts'
import { listen } from './listen.ts'

const url = process.env['DATABASE_URL']
const client = url === undefined ? undefined : new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
const app = express()

app.get(/.*/, async (_request, response) => {
  response.json({ projects: (await client?.project.count()) ?? 0 })
})

listen(createServer(app))
