// An OpenID Connect provider for tests: oidc-provider, which tests can also make misbehave.
// node oidc_provider.mjs PORT REDIRECT_URI LOGOUT_URI

import http from 'node:http';

const modules = new URL('../../dashboard/node_modules/', import.meta.url);
const { Provider } = await import(new URL('oidc-provider/lib/index.js', modules));
const { SignJWT, UnsecuredJWT, decodeJwt, exportJWK, generateKeyPair } = await import(
  new URL('jose/dist/webapi/index.js', modules)
);

console.info = console.warn = () => {}; // it warns that it is not for production

const [port, redirectUri, logoutUri] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
// What tests set: people by login, claims that replace those of ID tokens, names of claims that are null, how tokens
// are signed, answers that hang.
let state = { people: {}, claims: {}, nulls: [], signing: 'good', hang: false, large: false };
let generation = 0;
const keys = {};

async function makeKey() {
  generation += 1;
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = `key-${generation}`;
  const named = { kid, use: 'sig', alg: 'RS256' };
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), ...named }, named };
}
keys.published = await makeKey();
keys.unknown = await makeKey();

const client = (id) => ({
  client_id: id,
  client_secret: 'secret: 100 %',
  redirect_uris: [redirectUri],
  post_logout_redirect_uris: [logoutUri],
});
const provider = new Provider(issuer, {
  clients: [client('flagstaff'), client('other')],
  cookies: { keys: ['test'] },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
  scopes: ['openid', 'email', 'groups'],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...state.people[id] }) }),
  jwks: { keys: [{ ...(await exportJWK(keys.published.privateKey)), ...keys.published.named }] }, // for id_token_hint
  pkce: { required: () => true },
  async loadExistingGrant(ctx) {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope('openid email groups');
    await grant.save();
    return grant;
  },
});

async function sign(claims) {
  if (state.signing === 'none') return new UnsecuredJWT(claims).encode();
  if (state.signing === 'secret') {
    const secret = new TextEncoder().encode('secret: 100 %'.padEnd(32));
    return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
  }
  const key = state.signing === 'unknown' ? keys.unknown : keys.published;
  const kid = state.signing === 'imitated' ? keys.published.kid : key.kid;
  const signer = state.signing === 'imitated' ? keys.unknown : key;
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(signer.privateKey);
}

provider.use(async (ctx, next) => {
  await next();
  if (ctx.path === '/jwks') ctx.body = { keys: [keys.published.publicJwk] };
  if (ctx.path === '/token' && ctx.body?.id_token) {
    const claims = { ...decodeJwt(ctx.body.id_token), ...state.claims };
    for (const [name, value] of Object.entries(claims)) if (value === null) delete claims[name];
    for (const name of state.nulls) claims[name] = null;
    ctx.body = { ...ctx.body, id_token: await sign(claims) };
  }
});

const handle = provider.callback();
const server = http.createServer(async (request, response) => {
  if (request.url === '/test') {
    let body = '';
    for await (const part of request) body += part;
    const { rotate, ...changes } = JSON.parse(body);
    if (rotate) keys.published = await makeKey();
    state = { ...state, ...changes };
    response.end();
  } else if (state.hang) {
    // never answers
  } else if (state.large) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer, filling: 'x'.repeat(1_000_000) }));
  } else {
    handle(request, response);
  }
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
