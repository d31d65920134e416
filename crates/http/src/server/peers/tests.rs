use super::*;

fn peers(total: usize, of_one: usize) -> Arc<Peers> {
    Peers::new(&HttpLimits {
        max_pending_body_bytes: total,
        max_pending_body_bytes_per_peer: of_one,
        ..HttpLimits::default()
    })
}

fn at(address: &str) -> Peer {
    Peer::Address(address.parse().expect("an address"))
}

fn bytes(peers: &Arc<Peers>, peer: &Peer, amount: usize) -> Result<Permit, Excess> {
    peers.admit(peer, Resource::BodyBytes, amount)
}

#[test]
fn a_resource_is_limited_in_total_and_for_each_peer() {
    let peers = peers(25, 10);
    let (alice, bob, carol) = (at("192.0.2.1"), at("192.0.2.2"), at("192.0.2.3"));
    let mut first = bytes(&peers, &alice, 6).expect("room");
    first.grow(4).expect("room");
    assert_eq!(first.grow(1), Err(Excess::OfPeer));
    let second = bytes(&peers, &bob, 10).expect("room");
    assert_eq!(bytes(&peers, &carol, 6).err(), Some(Excess::InTotal));
    let third = bytes(&peers, &carol, 5).expect("room");
    drop(first);
    assert!(bytes(&peers, &carol, 5).is_ok());
    drop((second, third));
    let state = peers.lock();
    assert_eq!((state.total, state.by_peer.len()), (Used::default(), 0));
}

#[test]
fn principals_are_counted_by_their_id_and_unknown_peers_in_total_only() {
    let peers = peers(25, 10);
    let principal = |scope| Peer::Principal(Principal::new("alice", [scope]));
    let _first = bytes(&peers, &principal("read"), 10).expect("room");
    let second = bytes(&peers, &principal("write"), 1);
    assert_eq!(second.err(), Some(Excess::OfPeer));
    let _third = bytes(&peers, &Peer::Unknown, 15).expect("room");
    assert_eq!(
        bytes(&peers, &Peer::Unknown, 1).err(),
        Some(Excess::InTotal)
    );
}

#[test]
fn the_table_of_peers_shrinks_after_a_crowd_has_left() {
    let peers = peers(usize::MAX, 1);
    let crowd: Vec<_> = (0..20_000_u32)
        .map(|nth| bytes(&peers, &Peer::Address(IpAddr::V4(nth.into())), 1))
        .collect();
    assert!(peers.lock().by_peer.capacity() >= 20_000);
    drop(crowd);
    assert!(peers.lock().by_peer.capacity() <= 2 * FEW_PEERS);
}
