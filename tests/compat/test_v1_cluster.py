"""Servers of a cluster: what sessions on them share."""

import socket
import threading

import pytest
import tensorflow
from both_v1 import error_of, same

import runnel


@pytest.fixture(scope="module")
def original_cluster():
    """Two workers and a parameter server of the original, which needs ports for them."""
    sockets = [socket.socket() for _ in range(3)]
    for each in sockets:
        each.bind(("localhost", 0))
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    spec = {"worker": addresses[:2], "ps": addresses[2:]}
    server = tensorflow.compat.v1.train.Server
    workers = [server(spec, job_name="worker", task_index=index) for index in range(2)]
    return workers, [server(spec, job_name="ps", task_index=0)]


def on_clusters(program, original_cluster):
    """The same from a program on a cluster of the original, and on one of ours."""
    results = []
    for tf, cluster in (
        (tensorflow, original_cluster),
        (runnel, runnel.test.create_local_cluster(2, 1)),
    ):
        with tf.Graph().as_default():
            results.append(program(tf.compat.v1, tf, *cluster))
    same(*results)


def test_sessions_share_what_is_on_one_task(original_cluster):
    def program(v1, tf, workers, servers):
        with tf.device("/job:ps/task:0"):
            v = v1.get_variable("v", initializer=1.0)
        u = v1.get_variable("u", initializer=10.0)
        with tf.device("/job:worker/task:1"):
            x = v1.get_variable("x", initializer=100.0)
        more, init = v.assign_add(1.0), v1.global_variables_initializer()
        first, second, again, served = (
            v1.Session(each.target) for each in (*workers, workers[0], *servers)
        )
        found = [error_of(lambda: first.run(v))]
        first.run(init)
        for session in (first, second, again, served):
            found += [session.run([v, x]), error_of(lambda: session.run(u))]
        first.run(more)
        second.run(more)
        first.close()
        found += [v.device, u.device, again.run([u, v]), second.run(v)]
        names = [each.name for each in second.list_devices()]
        found += [names[0], sorted(names)]
        # Another graph, in which the variable has the same name.
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                other = v1.get_variable("v", initializer=5.0)
            found.append(v1.Session(workers[1].target).run(other.assign_add(2.0)))
        return [*found, served.run(v)]

    on_clusters(program, original_cluster)


def test_containers_are_reset(original_cluster):
    def program(v1, tf, workers, servers):
        graph = v1.get_default_graph()
        kept = v1.get_variable("kept", initializer=1.0)
        with graph.container("box"):
            boxed = v1.get_variable("boxed", initializer=2.0)
        target = workers[0].target
        session = v1.Session(target)
        session.run([kept.initializer, boxed.initializer])
        found = [session.run([kept, boxed])]
        v1.Session.reset(target, ["box"])
        found.append(error_of(lambda: session.run(kept)))
        session = v1.Session(target)
        found += [session.run(kept), error_of(lambda: session.run(boxed))]
        v1.Session.reset(target)
        found.append(error_of(lambda: v1.Session(target).run(kept)))
        return found

    on_clusters(program, original_cluster)


def test_what_cannot_be(original_cluster):
    def program(v1, tf, workers, servers):
        with tf.device("/job:ps/task:7"):
            v = v1.get_variable("far", initializer=1.0)
        return error_of(lambda: v1.Session(workers[0].target).run(v.initializer))

    on_clusters(program, original_cluster)
    # The original's class, too; what is left of the session there fails once more.
    with pytest.raises(runnel.errors.NotFoundError, match="nonsense"):
        runnel.compat.v1.Session("nonsense", graph=runnel.Graph())
    with pytest.raises(runnel.errors.UnavailableError, match="this process"):
        runnel.compat.v1.Session("grpc://localhost:1", graph=runnel.Graph())


def test_descriptions_of_servers(original_cluster):
    ours = runnel.test.create_local_cluster(2, 1)
    pairs = [*zip(original_cluster[0], ours[0], strict=True), (original_cluster[1][0], ours[1][0])]
    for theirs, server in pairs:
        wanted, found = theirs.server_def, server.server_def
        assert (wanted.job_name, wanted.task_index) == (found.job_name, found.task_index)
        assert wanted.protocol == found.protocol
        assert [(each.name, len(each.tasks)) for each in wanted.cluster.job] == [
            (each.name, len(each.tasks)) for each in found.cluster.job
        ]
        address = runnel.train.ClusterSpec(found.cluster).task_address(
            found.job_name, found.task_index
        )
        assert server.target == f"grpc://{address}"
    assert len({server.target for _, server in pairs}) == 3
    assert ours[0][0].start() is None


def test_workers_that_count_together():
    """No update is lost, though each worker has a graph and a session of its own."""
    workers, _ = runnel.test.create_local_cluster(3, 1)
    v1 = runnel.compat.v1

    def count(target, rounds):
        with runnel.Graph().as_default():
            with runnel.device("/job:ps/task:0"):
                total = v1.get_variable("total", initializer=[0, 0])
            session = v1.Session(target)
            more = total.assign_add([1, 2])
            if not rounds:
                session.run(total.initializer)
            for _ in range(rounds):
                session.run(more.op)
                session.run(total)
            return session.run(total).tolist()

    count(workers[0].target, 0)
    failures = []

    def work(target):
        try:
            count(target, 200)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(each.target,)) for each in workers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures
    assert count(workers[0].target, 1) == [601, 1202]


def test_devices_of_a_session():
    names = [
        [each.name for each in tf.compat.v1.Session(graph=tf.Graph()).list_devices()]
        for tf in (tensorflow, runnel)
    ]
    assert names[0] == names[1]
