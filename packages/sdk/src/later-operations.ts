import { laterTable } from './later-table.ts'
import { readTable } from './operations.ts'

/** What `operations` lacks until one of these is called. */
export const laterOperations = readTable(laterTable)
