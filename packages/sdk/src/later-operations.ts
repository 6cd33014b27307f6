import { laterTable } from './later-table.ts'
import { readTable } from './operations.ts'

/** The operations that `operations` lacks until one of these is called. */
export const laterOperations = readTable(laterTable)
