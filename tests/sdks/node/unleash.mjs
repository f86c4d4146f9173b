// An application with Unleash's SDK for Node.js. Its commands and answers are those of ../python/unleash.py.
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { Unleash } from 'unleash-client'

const HYDRATION_MILLISECONDS = 20_000 // a stream that a proxy keeps back takes longer
const modes = {
  polling: { type: 'polling', format: 'full' },
  delta: { type: 'polling', format: 'delta' },
  streaming: { type: 'streaming' },
}
const clients = new Map()

async function connect({ connect: key, name, url, mode }) {
  const client = new Unleash({
    url,
    appName: name,
    instanceId: name,
    refreshInterval: mode === 'streaming' ? 2_000 : 200, // with a stream, only where that is refused
    experimentalMode: modes[mode],
    metricsInterval: 200,
    customHeaders: { Authorization: key },
    disableAutoStart: true,
    storageProvider: { get: async () => undefined, set: async () => undefined },
  })
  clients.set(name, client)
  const connected = new Promise((resolve) => {
    client.once('synchronized', () => resolve(true))
    // The SDK also warns of many clients in one process by an error.
    client.on('error', (error) => String(error).includes(url) && resolve(false))
  })
  client.on('warn', () => undefined)
  await client.start()
  const waited = setTimeout(HYDRATION_MILLISECONDS, false, { ref: false })
  return { connected: await Promise.race([connected, waited]) }
}

function ask(name, flag, context) {
  const client = clients.get(name)
  const variant = client.getVariant(flag, context)
  return [client.isEnabled(flag, context), variant.enabled ? variant.name : null, variant.payload ?? null]
}

function measure(name, flag) {
  const metrics = clients.get(name).impactMetrics
  const ofFlag = { flagNames: [flag], context: { userId: 'ada' } }
  metrics.defineCounter('orders', 'Orders')
  metrics.defineHistogram('seconds', 'Response time', [0.1, 1])
  metrics.defineGauge('queue', 'Orders that wait')
  metrics.incrementCounter('orders', 2, ofFlag)
  metrics.observeHistogram('seconds', 0.5, ofFlag)
  metrics.updateGauge('queue', 7, ofFlag)
  return { measured: true }
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line)
  const answer =
    'connect' in command
      ? await connect(command)
      : 'measure' in command
        ? measure(command.name, command.measure)
        : command.ask.map((question) => ask(command.name, ...question))
  console.log(JSON.stringify(answer))
}
for (const client of clients.values()) client.destroy()
