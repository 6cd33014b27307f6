import { expect, it } from 'vitest'
import { recordHistory } from './history.ts'

it('accepts reads of the latest write, and of either of two concurrent writes', async () => {
  const history = recordHistory('0')
  await history.read(async () => '0')
  await Promise.all([history.write('1', async () => {}), history.write('2', async () => {})])
  await history.read(async () => '1')
  expect(history.violations()).toEqual([])
})

it('finds a lost update, a stale read and a value that was never written', async () => {
  const history = recordHistory('0')
  await history.write('1', async () => {})
  await history.read(async () => '0')
  await history.read(async () => 'x')
  expect(history.violations()).toHaveLength(2)
})

it('finds two reads in the wrong order', async () => {
  const history = recordHistory('0')
  let finish = () => {}
  const slow = history.write(
    '1',
    () =>
      new Promise<void>((resolve) => {
        finish = resolve
      }),
  )
  await history.read(async () => '1')
  await history.read(async () => '0')
  finish()
  await slow
  expect(history.violations()).toEqual(['read 0 after an earlier read had seen 1'])
})
