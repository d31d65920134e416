// An identity provider on this machine: people sign in on its pages, clients register themselves,
// and tokens are signed for the server that a client names.
//
//   node provider.mjs ISSUER AUDIENCE

import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [issuer, audience] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "one" }] },
  scopes: ["openid", "offline_access", "mcp"],
  clientDefaults: { id_token_signed_response_alg: "ES256" },
  pkce: { required: () => true },
  // Whoever is on the page of this provider may be anybody: it is an example.
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => {
        if (resource !== audience) throw new Error(`no tokens are issued for ${resource}`);
        return {
          scope: "mcp",
          audience,
          accessTokenTTL: 600,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "ES256" } },
        };
      },
    },
  },
});

const { hostname, port } = new URL(issuer);
provider.listen(Number(port), hostname, () => console.log(`the provider is at ${issuer}`));
